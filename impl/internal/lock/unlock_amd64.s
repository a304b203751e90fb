//go:build gc && !race

#include "go_asm.h"
#include "textflag.h"

// func unlock(m *Mutex)
//
// This processor shows its writes to others in the order of the program, and none
// of them before a read that precedes it was made: what was read and written
// under the lock is complete when locked is seen to be 0. To the compiler this
// is a call that may read and write anything.
TEXT ·unlock(SB), NOSPLIT, $0-8
	MOVQ m+0(FP), AX
	MOVL $0, Mutex_locked(AX)
	CMPL Mutex_waiting(AX), $0
	JNE  waits
	RET

waits:
	DECL Mutex_left(AX)
	JLE  gives
	RET

gives:
	JMP ·give(SB)

// func pause(times uint32)
TEXT ·pause(SB), NOSPLIT, $0-4
	MOVL times+0(FP), CX

again:
	PAUSE
	DECL CX
	JNZ  again
	RET
