"""An example application: its people sign in with passkeys, and can recover from the loss of a device."""
