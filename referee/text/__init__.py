"""Every sentence people read, in every language: rulings, rules, answers, the page's words."""
