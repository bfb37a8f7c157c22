// Elements, forms, and the question before something that cannot be undone.
"use strict";
const Make = (() => {
  const { say } = Words;

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== false && value != null) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child != null));
    return made;
  };
  const button = (label, act, kind = "") =>
    element("button", { type: "button", class: `button ${kind}`.trim(), onclick: act }, label);
  const options = (pairs) => pairs.map(([value, text]) => element("option", { value }, text));
  const select = (name, label, pairs) =>
    element("label", {}, label, element("select", { name }, ...options(pairs)));
  const input = (name, label, attributes) => element("label", {}, label, element("input", { name, ...attributes }));
  const row = (...children) => element("div", { class: "row" }, ...children);
  const group = (legend, ...children) => element("fieldset", {}, element("legend", {}, legend), ...children);

  // `act` is given the form and gives whether it was done; what was filled in stays where it was not.
  const form = (children, act, label = say("apply")) =>
    element("form", {
      onsubmit: async (event) => {
        event.preventDefault();
        const own = event.currentTarget;
        if (await act(own.elements, own)) own.dispatchEvent(new CustomEvent("done", { bubbles: true }));
      },
    }, ...children, element("button", { class: "button strong" }, label));

  const confirm = (question, yes) =>
    new Promise((decided) => {
      const dialog = element("dialog", { role: "alertdialog", "aria-labelledby": "question" },
        element("form", { method: "dialog" },
          element("p", { id: "question" }, question),
          row(element("button", { class: "button", value: "no", autofocus: true }, say("cancel")),
            element("button", { class: "button danger", value: "yes" }, yes))));
      dialog.addEventListener("close", () => {
        dialog.remove();
        decided(dialog.returnValue === "yes");
      });
      document.body.append(dialog);
      dialog.showModal();
    });

  return { element, button, options, select, input, row, group, form, confirm };
})();
