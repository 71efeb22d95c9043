"""A headless Chromium with virtual authenticators, and the servers that its pages come from."""
