export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const SYSTEM_PROGRAM = '11111111111111111111111111111111'
/** Wrapped SOL. It represents the native coin too: both are one asset. */
export const WSOL = 'So11111111111111111111111111111111111111112'

/** Every transaction that changes a token balance names one of them, so a source that filters transactions includes them. */
export const BALANCE_PROGRAMS: readonly string[] = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]
