import { Type } from 'typebox'
import { MOST_IDS, QUEUE_VERBS } from './postfix-program.ts'

const closed = { additionalProperties: false }

/** A command of the queue as another process sends it: to the helper, or to the queue manager. */
export const QueueRequest = Type.Object(
  {
    command: Type.Object(
      {
        verb: Type.Enum([...QUEUE_VERBS]),
        queueIds: Type.Optional(
          Type.Array(Type.String({ pattern: '^[A-Za-z0-9]{6,20}$' }), { maxItems: MOST_IDS }),
        ),
      },
      closed,
    ),
    timeoutMs: Type.Integer({ minimum: 1, maximum: 60_000 }),
  },
  closed,
)

/** The lines of the answer: output of a program in base64, then one of the other two. */
export type AnswerLine = { output: string } | { result: unknown } | { error: string }
