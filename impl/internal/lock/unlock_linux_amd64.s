//go:build gc && !race

#include "go_asm.h"
#include "textflag.h"

// func unlock(m *Mutex)
//
// This processor shows its writes to others in the order of the program, and none
// of them before a read that precedes it was made: what was read and written
// under the lock is complete when locked is seen to be 0. It may make the read of
// waiting before its write of locked is seen, though, which who waits prevents
// with a barrier, or the exchange does. To the compiler this is a call that may
// read and write anything.
TEXT ·unlock(SB), NOSPLIT, $0-8
	MOVQ m+0(FP), AX
	CMPB ·barriers(SB), $0
	JEQ  exchange
	MOVL $0, Mutex_locked(AX)

look:
	CMPL Mutex_waiting(AX), $const_nothing
	JNE  waits
	RET

exchange:
	XORL  CX, CX
	XCHGL CX, Mutex_locked(AX)
	JMP   look

waits:
	JMP ·answer(SB)
