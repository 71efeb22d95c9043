// The room of the devices that tell whether the person is here: PAM, with whatever the system's stack
// asks. Until they move in, unlocking is the one check of presence; it belongs to the vault.
