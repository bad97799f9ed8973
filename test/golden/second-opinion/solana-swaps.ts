/** A swap as the program's interface describes its accounts: written out once more, apart from the decoders. */
export type WrittenSwap = { readonly pool: string; readonly vaults: readonly string[] }

type Places = readonly [pool: number, vault: number, otherVault: number]

const PLACES: Readonly<Record<string, Readonly<Record<string, readonly Places[]>>>> = {
  // The curve itself holds the lamports.
  pump_fun: {
    '66063d1201daebea': [[3, 4, 3]],
    '38fc74089edfcd5f': [[3, 4, 3]],
    '33e685a4017f83ad': [[3, 4, 3]],
    b817ee6167c5d33d: [[10, 11, 12]],
    c2ab1c46684d5b2f: [[10, 11, 12]],
    '5df6823ce7e940b2': [[10, 11, 12]],
  },
  pumpswap: {
    '66063d1201daebea': [[0, 7, 8]],
    c62e1552b4d9e870: [[0, 7, 8]],
    '33e685a4017f83ad': [[0, 7, 8]],
  },
  raydium_cpmm: { '8fbe5adac41e33de': [[3, 6, 7]], '37d96256a34ab4ad': [[3, 6, 7]] },
  raydium_clmm: { f8c69e91e17587c8: [[2, 5, 6]], '2b04ed0b1ac91e62': [[2, 5, 6]] },
  raydium_launchlab: {
    faea0d7bd59c13ec: [[4, 7, 8]],
    '18d3742869039938': [[4, 7, 8]],
    '9527de9bd37c981a': [[4, 7, 8]],
    '5fc8472208090ba6': [[4, 7, 8]],
  },
  orca_whirlpool: {
    f8c69e91e17587c8: [[2, 4, 6]],
    '2b04ed0b1ac91e62': [[4, 8, 10]],
    c360ed6c44a2dbe6: [
      [2, 5, 7],
      [3, 9, 11],
    ],
    ba8fd11dfe02c275: [
      [0, 9, 10],
      [1, 11, 12],
    ],
  },
  meteora_dlmm: {
    f8c69e91e17587c8: [[0, 2, 3]],
    '414b3f4ceb5b5b88': [[0, 2, 3]],
    fa49652126cf4bb8: [[0, 2, 3]],
    '2bd7f784893cf351': [[0, 2, 3]],
    '38ade6d0ade49ccd': [[0, 2, 3]],
    '4a62c0d6b1334b33': [[0, 2, 3]],
  },
  meteora_damm_v1: { f8c69e91e17587c8: [[0, 5, 6]] },
  meteora_damm_v2: { f8c69e91e17587c8: [[1, 4, 5]], '414b3f4ceb5b5b88': [[1, 4, 5]] },
  meteora_dbc: {
    f8c69e91e17587c8: [[2, 5, 6]],
    '414b3f4ceb5b5b88': [[2, 5, 6]],
    b75d992818e6c297: [[2, 5, 6]],
  },
  moonshot: { '66063d1201daebea': [[2, 3, 2]], '33e685a4017f83ad': [[2, 3, 2]] },
}

/** By tag and number of accounts. */
const RAYDIUM_AMM_V4: Readonly<Record<string, Places>> = {
  '9 18': [1, 5, 6],
  '9 17': [1, 4, 5],
  '11 18': [1, 5, 6],
  '11 17': [1, 4, 5],
  '16 8': [1, 3, 4],
  '17 8': [1, 3, 4],
}

/** The swaps of an instruction; none if it is something else. */
export function swapIn(
  protocol: string | undefined,
  data: string,
  accounts: readonly string[],
): WrittenSwap[] {
  const tagged = RAYDIUM_AMM_V4[`${Number.parseInt(data.slice(0, 2), 16)} ${accounts.length}`]
  const found =
    protocol === 'raydium_amm_v4'
      ? tagged === undefined
        ? []
        : [tagged]
      : (PLACES[protocol ?? '']?.[data.slice(0, 16)] ?? [])
  return found.map(([pool, vault, other]) => ({
    pool: accounts[pool] ?? '',
    vaults: [accounts[vault] ?? '', accounts[other] ?? ''],
  }))
}
