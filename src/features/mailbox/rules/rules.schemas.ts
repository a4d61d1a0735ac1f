import { Type } from 'typebox'
import { Body, Nullable } from '../../../http/envelope.ts'

const Word = (description: string, example: string) =>
  Type.Optional(Type.String({ maxLength: 64, description, examples: [example] }))

const Condition = Body(
  {
    field: Word(
      'from, to, cc, subject or body; a condition on another field is stored and ignored',
      'from',
    ),
    operator: Word('contains (default), is, or matches with the wildcards * and ?', 'contains'),
    value: Type.Optional(Nullable(Type.String({ maxLength: 2000, examples: ['newsletter'] }))),
  },
  { title: 'MailboxRuleCondition' },
)

const Action = Body(
  {
    type: Word(
      'move, flag, mark_read, forward or discard; another type is stored and ignored',
      'move',
    ),
    value: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 1000,
          description: 'Folder of a move, address of a forward',
          examples: ['Newsletters'],
        }),
      ),
    ),
  },
  { title: 'MailboxRuleAction' },
)

const Conditions = Type.Array(Condition, { maxItems: 50 })
const Actions = Type.Array(Action, { maxItems: 20 })
const Name = Type.String({ maxLength: 255, examples: ['Newsletters'] })

export const Rule = Type.Object(
  {
    id: Type.String(),
    name: Name,
    match: Type.String({ description: 'all or any', examples: ['all'] }),
    conditions: Conditions,
    actions: Actions,
    enabled: Type.Boolean(),
  },
  { title: 'MailboxRule' },
)

export const RuleList = Type.Object(
  {
    rules: Type.Array(Rule),
    managed: Type.Boolean({
      description: 'false: the script was written by another program; saving replaces it',
    }),
  },
  { title: 'MailboxRules' },
)

const SentRules = Type.Array(
  Body(
    {
      id: Type.Optional(
        Nullable(Type.String({ maxLength: 64, description: 'Assigned when absent' })),
      ),
      name: Type.Optional(Nullable(Name)),
      match: Word('any, or all (default)', 'all'),
      conditions: Type.Optional(Conditions),
      actions: Type.Optional(Actions),
      enabled: Type.Optional(Type.Boolean({ default: true })),
    },
    { title: 'NewMailboxRule' },
  ),
  { maxItems: 1000, description: 'At most 50; they run in this order' },
)

export const RulesBody = Body({ rules: Type.Optional(SentRules) })

const Header = (example: string) =>
  Type.Optional(Type.String({ maxLength: 10_000, description: 'Decoded', examples: [example] }))

export const TestBody = Body({
  from: Header('Jane <jane@acme.example>'),
  to: Header('joe@acme.example'),
  cc: Header(''),
  subject: Header('Our newsletter'),
  body: Type.Optional(Type.String({ maxLength: 200_000, description: 'Plain text' })),
  rules: Type.Optional(SentRules),
})

export const Outcome = Type.Object(
  {
    blocked: Type.Boolean({
      description: 'From a blocked sender: goes to Junk, nothing else happens',
    }),
    matched_rules: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
    stored: Type.Array(
      Type.Object({
        folder: Type.String({ examples: ['INBOX'] }),
        flags: Type.Array(Type.String({ examples: ['\\Seen'] })),
      }),
      { description: 'Empty when no copy stays' },
    ),
    forwarded_to: Type.Array(Type.String()),
    discarded: Type.Boolean(),
    vacation_reply: Type.Boolean({
      description: 'Unless this sender had one within the day, or the message is from a list',
    }),
  },
  { title: 'MailboxRulesOutcome' },
)
