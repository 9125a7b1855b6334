"""The configuration file: where it is, what it may say, and how it joins the environment."""
