import type { Target } from './attack.ts'
import { ATTACKS } from './attacks.ts'

/** Attackers have a process of their own: what they cost must not be taken for what they do to the gateway. */
export type AttackOrder = { readonly name: string; readonly target: Target }
export type AttackReport = { readonly name: string; readonly counts: Readonly<Record<string, number>> }

process.on('message', (orders: readonly AttackOrder[]) => {
  void Promise.all(orders.map(carryOut)).then((reports) => process.send?.(reports))
})
// The parent is gone.
process.on('disconnect', () => process.exit())

async function carryOut({ name, target }: AttackOrder): Promise<AttackReport> {
  const attack = ATTACKS.find((each) => each.name === name)
  if (attack === undefined) throw new Error(`there is no attack '${name}'`)
  const { counts } = await attack.run(target)
  return { name, counts }
}
