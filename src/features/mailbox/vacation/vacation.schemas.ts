import { Type } from 'typebox'
import { Body, Nullable } from '../../../http/envelope.ts'

const Day = Type.String({
  maxLength: 40,
  description: 'For display; an enabled responder answers on every day',
  examples: ['2026-12-24'],
})

const texts = {
  subject: Type.String({ maxLength: 500, examples: ['Out of office'] }),
  message: Type.String({ maxLength: 20_000, examples: ['Back on Monday.'] }),
}

export const VacationSettings = Type.Object(
  {
    enabled: Type.Boolean(),
    subject: Nullable(texts.subject),
    message: Nullable(texts.message),
    start_date: Nullable(Day),
    end_date: Nullable(Day),
    managed: Type.Boolean({
      description: 'false: the script was written by another program; saving replaces it',
    }),
  },
  { title: 'MailboxVacation' },
)

export const VacationBody = Body({
  enabled: Type.Optional(Type.Boolean({ default: false })),
  subject: Type.Optional(Nullable(texts.subject)),
  message: Type.Optional(Nullable(texts.message)),
  start_date: Type.Optional(Nullable(Day)),
  end_date: Type.Optional(Nullable(Day)),
})
