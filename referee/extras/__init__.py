"""Things around the appliance that it never imports: a broker, the hall, practice."""
