#pragma once
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>

// Swift does not import macros that add a number to another macro.
static const UINT32 WATCHWORD_RC_LOCKOUT = TPM2_RC_LOCKOUT;
static const UINT32 WATCHWORD_PT_LOCKOUT_COUNTER = TPM2_PT_LOCKOUT_COUNTER;
static const UINT32 WATCHWORD_PT_MAX_AUTH_FAIL = TPM2_PT_MAX_AUTH_FAIL;
static const UINT32 WATCHWORD_PT_LOCKOUT_INTERVAL = TPM2_PT_LOCKOUT_INTERVAL;
