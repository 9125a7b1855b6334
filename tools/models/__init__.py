"""Makes model folders of what packages carry."""
