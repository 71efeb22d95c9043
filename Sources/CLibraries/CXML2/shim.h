#pragma once
#include <libxml/xmlversion.h>
// Foundation has its own definitions of ICU's types, and optimised code that imports both does not compile.
// Without ICU, the last members of a structure are missing, which we neither create nor read.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlmemory.h>
