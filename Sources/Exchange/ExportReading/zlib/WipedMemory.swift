internal import CZlib
internal import WatchwordSystem

// zlib's window holds what was decompressed last, so its memory is wiped.

func allocateWiped(_: voidpf?, items: uInt, size: uInt) -> voidpf? {
    unsafe WipingAllocator.allocate(Int(items) * Int(size))
}

func freeWiped(_: voidpf?, memory: voidpf?) { unsafe WipingAllocator.release(memory) }
