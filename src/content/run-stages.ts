import type { Mail, Stage } from './stage.ts'

export interface Filtered {
  passed: Mail[]
  rejected: { mail: Mail; text: string }[]
  held: Mail[]
}

/** Runs the stages in order. If a stage splits mail, each piece continues alone. */
export async function runStages(stages: readonly Stage[], mail: Mail): Promise<Filtered> {
  const result: Filtered = { passed: [], rejected: [], held: [] }
  let passing: readonly Mail[] = [mail]
  for (const stage of stages) {
    const next: Mail[] = []
    for (const one of passing) {
      const outcome = await stage.apply(one)
      if (outcome.kind === 'pass') {
        next.push(...outcome.mails)
        result.rejected.push(...(outcome.rejected ?? []))
      } else if (outcome.kind === 'held') result.held.push(one)
      else result.rejected.push({ mail: one, text: outcome.text })
    }
    passing = next
  }
  result.passed = passing.filter(({ recipients }) => recipients.length > 0)
  return result
}
