"""The texts of rulings, rules, answers and the page, in every language."""
