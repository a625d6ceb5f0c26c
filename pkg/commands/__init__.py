"""The commands of the product, one in each module; pkg.console.command_table lists them."""
