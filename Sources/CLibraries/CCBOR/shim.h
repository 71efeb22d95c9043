#pragma once
#include <cbor/callbacks.h>
#include <cbor/streaming.h>
