// What the scripts of a page say, in the page's language.
"use strict";
const Words = (() => {
  const words = JSON.parse(document.getElementById("words").dataset.words);
  const text = (key, fields = {}) =>
    Object.entries(fields).reduce((said, [name, value]) => said.replaceAll(`{${name}}`, value), words[key] ?? key);
  return { text, say: (key, fields) => text(`control.${key}`, fields) };
})();
