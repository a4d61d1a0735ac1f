import type { Passing, Stage } from './stage.ts'

/** What the stages made of a message. */
export interface Filtered {
  passed: Passing[]
  refused: { message: Passing; text: string }[]
  held: Passing[]
}

/** Each stage sees what the one before has passed on; what was split goes on apart. */
export async function runStages(stages: readonly Stage[], message: Passing): Promise<Filtered> {
  const result: Filtered = { passed: [], refused: [], held: [] }
  let passing: readonly Passing[] = [message]
  for (const stage of stages) {
    const next: Passing[] = []
    for (const one of passing) {
      const outcome = await stage.apply(one)
      if (outcome.kind === 'pass') next.push(...outcome.messages)
      else if (outcome.kind === 'held') result.held.push(one)
      else result.refused.push({ message: one, text: outcome.text })
    }
    passing = next
  }
  // Nobody is left to get it.
  result.passed = passing.filter(({ recipients }) => recipients.length > 0)
  return result
}
