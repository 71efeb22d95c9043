"""The part of the demonstration in which a person uses passkeys, without a browser."""
