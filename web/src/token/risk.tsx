import type { Contract } from '@chaintape/client'
import { For, type JSX, Show } from 'solid-js'
import { formatCount, formatShare, shortAddress, UNKNOWN } from '../format.ts'
import { createPolled } from '../live.ts'
import { client } from '../market-data.ts'
import { Problem, Waiting } from '../parts.tsx'

const REFRESH_MS = 15_000

const ABILITIES: readonly (readonly [keyof Contract, string])[] = [
  ['is_proxy', 'Code can be replaced (proxy)'],
  ['has_mint_method', 'Can mint'],
  ['has_black_method', 'Can block wallets'],
  ['transfer_pausable', 'Can pause transfers'],
  ['slippage_modifiable', 'Can change taxes'],
  ['can_take_back_ownership', 'Ownership can be taken back'],
  ['hidden_owner', 'Hidden owner'],
  ['selfdestruct', 'Can destroy itself'],
  ['external_call', 'Depends on another contract'],
  ['metadata_mutable', 'Name and symbol can change'],
]
const HONEYPOT: Readonly<Record<number, string>> = { 1: 'yes', 0: 'no', [-1]: 'not checked' }

/** The score, what it is made of, and the facts behind it. */
export function Risk(props: { readonly tokenId: string }): JSX.Element {
  const report = createPolled(
    () => props.tokenId,
    (tokenId, signal) => client.rest.contract(tokenId, { signal }),
    { everyMs: REFRESH_MS },
  )
  return (
    <>
      <Problem what="Risk" error={report.error()} />
      <Show when={report.value()} fallback={<Waiting what="Reading the contract report" />}>
        {(found) => (
          <div class="risk">
            <Factors contract={found()} />
            <dl class="facts">
              <Fact
                name="Honeypot"
                value={HONEYPOT[found().is_honeypot] ?? UNKNOWN}
                isBad={found().is_honeypot === 1}
              />
              <Fact name="Buy tax" value={formatShare(found().buy_tax)} />
              <Fact name="Sell tax" value={formatShare(found().sell_tax)} />
              <Fact name="Transfer tax" value={formatShare(found().transfer_tax)} />
              <Fact name="Owner" value={found().owner ? shortAddress(found().owner ?? '') : UNKNOWN} />
              <Fact name="Owner's share" value={formatShare(found().owner_percent)} />
              <Fact name="Creator's share" value={formatShare(found().creator_percent)} />
              <Fact name="Supply locked or burned" value={formatShare(found().token_lock_percent)} />
              <Fact name="Liquidity locked or burned" value={formatShare(found().pair_lock_percent)} />
              <For each={ABILITIES}>
                {([field, name]) => (
                  <Show when={found()[field] !== undefined}>
                    <Fact
                      name={name}
                      value={found()[field] === 1 ? 'yes' : 'no'}
                      isBad={found()[field] === 1}
                    />
                  </Show>
                )}
              </For>
            </dl>
            <p class="note">
              {found().checked_at_block === undefined
                ? 'The contract is not inspected yet.'
                : `Inspected at block ${formatCount(found().checked_at_block)}.`}{' '}
              A low score is no promise.
            </p>
          </div>
        )}
      </Show>
    </>
  )
}

function Factors(props: { readonly contract: Contract }): JSX.Element {
  return (
    <div class="factors">
      <p class="score">
        Risk <strong>{props.contract.risk_score ?? UNKNOWN}</strong> of 100
      </p>
      <Show when={props.contract.risk_factors} fallback={<p class="empty">No score yet.</p>}>
        <ul>
          <For each={props.contract.risk_factors} fallback={<li>No factor adds to the score.</li>}>
            {({ code, points, evidence }) => (
              <li>
                <span class="number points">+{points}</span> <strong>{code.replaceAll('_', ' ')}</strong>
                <For each={evidence}>{(line) => <code title={line}>{readable(line)}</code>}</For>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </div>
  )
}

/** Shares are exact in the report, as millionths. */
function readable(evidence: string): string {
  return evidence.replace(/^(\d+) millionths\b/, (_, count: string) => formatShare(Number(count) / 1_000_000))
}

function Fact(props: {
  readonly name: string
  readonly value: string
  readonly isBad?: boolean
}): JSX.Element {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd class="number" classList={{ down: props.isBad === true }}>
        {props.value}
      </dd>
    </div>
  )
}
