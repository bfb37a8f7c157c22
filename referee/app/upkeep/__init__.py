"""Looking after the machine at the table: backups, bringing them back, switching it off."""
