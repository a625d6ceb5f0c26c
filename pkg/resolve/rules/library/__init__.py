"""What is known of libraries: rules in one form (plugins.py), each told for the dotted names of what is called."""
