/** Types of the extensions of Token-2022, as far as they are read. */
export const EXTENSION = {
  transferFee: 1,
  mintCloseAuthority: 3,
  defaultState: 6,
  notTransferable: 9,
  interestBearing: 10,
  permanentDelegate: 12,
  transferHook: 14,
  metadataPointer: 18,
  metadata: 19,
  pausable: 26,
} as const
