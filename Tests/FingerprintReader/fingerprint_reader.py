"""A template for python3-dbusmock: fprintd with fingerprint readers, or none.

The parameter “scans” lists the results of the scans, separated by spaces. Each call of VerifyStart
uses the next one; the last is repeated. “none” means that nobody touches the reader. Without the
parameter, there is no reader. “fingers” lists the enrolled fingers of the user “user”, or of every
user: those of each reader, separated by slashes. A reader that is asked for them several times uses
the next list after a semicolon; the last is repeated. “error” is a failure of the reader.
"""
import dbus
import dbusmock
from gi.repository import GLib

BUS_NAME = "net.reactivated.Fprint"
MAIN_OBJ = "/net/reactivated/Fprint/Manager"
MAIN_IFACE = "net.reactivated.Fprint.Manager"
SYSTEM_BUS = True
IS_OBJECT_MANAGER = False

DEVICES = "/net/reactivated/Fprint/Device/"
DEVICE_INTERFACE = "net.reactivated.Fprint.Device"


def load(manager, parameters):
    scans = parameters.get("scans", "").split()
    readers = parameters.get("fingers", "right-index-finger").split("/") if scans else []
    owner = parameters.get("user")
    devices = dbus.Array([DEVICES + str(number) for number in range(len(readers))], signature="o")
    manager.AddMethods(MAIN_IFACE, [("GetDevices", "", "ao", lambda manager: devices)])

    def listing(lists):
        def enrolled(device, user):
            fingers = (lists.pop(0) if len(lists) > 1 else lists[0]).split()
            errors = "net.reactivated.Fprint.Error."
            if fingers == ["error"]:
                raise dbus.exceptions.DBusException("broken", name=errors + "Internal")
            if not fingers or owner not in (None, user):
                raise dbus.exceptions.DBusException("no prints", name=errors + "NoEnrolledPrints")
            return dbus.Array(fingers, signature="s")
        return enrolled

    def verify(device, finger):
        scan = scans.pop(0) if len(scans) > 1 else scans[0]

        def announce():
            device.EmitSignal(DEVICE_INTERFACE, "VerifyFingerSelected", "s", [finger])
            if scan != "none":
                device.EmitSignal(DEVICE_INTERFACE, "VerifyStatus", "sb", [scan, True])

        # The signals follow the response.
        GLib.idle_add(announce)

    properties = {"name": "reader", "scan-type": "press"}
    for device, fingers in zip(devices, readers):
        manager.AddObject(device, DEVICE_INTERFACE, properties, [
            ("ListEnrolledFingers", "s", "as", listing(fingers.split(";"))),
            ("Claim", "s", "", ""), ("Release", "", "", ""), ("VerifyStart", "s", "", verify),
            ("VerifyStop", "", "", ""),
        ])
