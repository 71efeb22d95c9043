"""Plays the desktop portal's interface for screenshots: desktop_portal.py [PICTURE]

It announces the file PICTURE; without one, the user refuses. Like the real portal, it serves only a program whose
root folder it can open.
"""
import os
import sys

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

OBJECT = "/org/freedesktop/portal/desktop"


class Request(dbus.service.Object):
    @dbus.service.signal("org.freedesktop.portal.Request", "ua{sv}")
    def Response(self, response, results):
        pass


class Portal(dbus.service.Object):
    @dbus.service.method("org.freedesktop.portal.Screenshot", "sa{sv}", "o", sender_keyword="sender")
    def Screenshot(self, parent, options, sender):
        os.close(os.open(f"/proc/{process(sender)}/root", os.O_RDONLY))
        path = f"{OBJECT}/request/{sender[1:].replace('.', '_')}/{options['handle_token']}"
        request = Request(bus, path)
        found = [0, {"uri": "file://" + sys.argv[1]}] if len(sys.argv) > 1 else [1, {}]
        # The signal follows the response.
        GLib.idle_add(lambda: request.Response(*found))
        return dbus.ObjectPath(path)


def process(sender):
    driver = bus.get_object("org.freedesktop.DBus", "/org/freedesktop/DBus")
    return driver.GetConnectionUnixProcessID(sender, dbus_interface="org.freedesktop.DBus")


bus = dbus.SessionBus(mainloop=DBusGMainLoop())
portal = Portal(dbus.service.BusName("org.freedesktop.portal.Desktop", bus), OBJECT)
GLib.MainLoop().run()
