"""Built-in examples, each written exactly as a user writes one."""
