import { sql } from 'kysely'
import type { Core } from '../../core.ts'

const PATIENCE_MS = 2000

export type HealthService = ReturnType<typeof healthService>

export const healthService = ({ db }: Pick<Core, 'db'>) => ({
  async databaseAnswers(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const silence = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), PATIENCE_MS)
    })
    const answer = sql`select 1`.execute(db).then(
      () => true,
      () => false,
    )
    const answers = await Promise.race([answer, silence])
    clearTimeout(timer)
    return answers
  },
})
