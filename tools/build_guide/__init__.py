"""The build guide's drawings and tables, made from the pin map, the parts list and the dimensions given here."""
