"""A template for python3-dbusmock: fprintd with one fingerprint reader, or none.

The parameter “scans” lists the results of the scans, separated by spaces. Each call of VerifyStart
uses the next one; the last is repeated. “none” means that nobody touches the reader. Without the
parameter, there is no reader. “fingers” lists the enrolled fingers of the user “user”, or of every
user.
"""
import dbus
import dbusmock
from gi.repository import GLib

BUS_NAME = "net.reactivated.Fprint"
MAIN_OBJ = "/net/reactivated/Fprint/Manager"
MAIN_IFACE = "net.reactivated.Fprint.Manager"
SYSTEM_BUS = True
IS_OBJECT_MANAGER = False

DEVICE = "/net/reactivated/Fprint/Device/0"
DEVICE_INTERFACE = "net.reactivated.Fprint.Device"


def load(manager, parameters):
    scans = parameters.get("scans", "").split()
    fingers = parameters.get("fingers", "right-index-finger").split()
    owner = parameters.get("user")
    devices = dbus.Array([DEVICE] if scans else [], signature="o")
    manager.AddMethods(MAIN_IFACE, [("GetDevices", "", "ao", lambda manager: devices)])
    if not scans:
        return

    def enrolled(device, user):
        if not fingers or owner not in (None, user):
            raise dbus.exceptions.DBusException(
                "no prints", name="net.reactivated.Fprint.Error.NoEnrolledPrints")
        return dbus.Array(fingers, signature="s")

    def verify(device, finger):
        scan = scans.pop(0) if len(scans) > 1 else scans[0]

        def announce():
            device.EmitSignal(DEVICE_INTERFACE, "VerifyFingerSelected", "s", [finger])
            if scan != "none":
                device.EmitSignal(DEVICE_INTERFACE, "VerifyStatus", "sb", [scan, True])

        # The signals follow the response.
        GLib.idle_add(announce)

    properties = {"name": "reader", "scan-type": "press"}
    manager.AddObject(DEVICE, DEVICE_INTERFACE, properties, [
        ("ListEnrolledFingers", "s", "as", enrolled), ("Claim", "s", "", ""),
        ("Release", "", "", ""), ("VerifyStart", "s", "", verify), ("VerifyStop", "", "", ""),
    ])
