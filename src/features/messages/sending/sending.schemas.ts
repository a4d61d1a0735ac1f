import { Type } from 'typebox'
import { Body, OneOf } from '../../../http/envelope.ts'

export const MAX_RECIPIENTS = 1000
const MAX_ADDRESSED = 50
const MAX_TEXT = 1024 * 1024
const MAX_ATTACHMENTS = 20

const mailbox = (example: string) =>
  Type.String({ minLength: 3, maxLength: 600, examples: [example] })
const mailboxes = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 3, maxLength: 600 }), {
      maxItems: MAX_ADDRESSED,
      description,
    }),
  )

const Attachment = Type.Object({
  filename: Type.String({ minLength: 1, maxLength: 255, examples: ['invoice.pdf'] }),
  content: Type.String({ description: 'Base64', examples: ['SGVsbG8='] }),
  content_type: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$',
      default: 'application/octet-stream',
    }),
  ),
  content_id: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._@+-]{1,200}$',
      description: 'For images in the HTML: `<img src="cid:…">`',
    }),
  ),
})

/** The fields that all messages of a request share. */
const common = {
  from: Type.String({
    minLength: 3,
    maxLength: 600,
    description: 'An address at an active domain of the organization, with or without a name',
    examples: ['Acme <orders@acme.example>'],
  }),
  reply_to: mailboxes('Addresses that answers go to'),
  headers: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^(X-[A-Za-z0-9-]{1,60}|[A-Za-z-]{1,40})$' }),
      Type.String({ maxLength: 2000 }),
      {
        maxProperties: 20,
        description:
          '`X-…`, `List-…`, `In-Reply-To`, `References`, `Auto-Submitted`, `Precedence` and `Importance`',
      },
    ),
  ),
  attachments: Type.Optional(
    Type.Array(Attachment, {
      maxItems: MAX_ATTACHMENTS,
      description: 'At most 10 MB together, before base64',
    }),
  ),
}

export const MessageBody = Body({
  ...common,
  to: Type.Array(mailbox('Jane <jane@elsewhere.example>'), {
    minItems: 1,
    maxItems: MAX_ADDRESSED,
  }),
  cc: mailboxes('Copies'),
  bcc: mailboxes('Copies that the other recipients do not see'),
  subject: Type.String({ maxLength: 2000, examples: ['Your order 4711'] }),
  html: Type.Optional(
    Type.String({ maxLength: MAX_TEXT, examples: ['<p>Thank you for your order.</p>'] }),
  ),
  text: Type.Optional(
    Type.String({
      maxLength: MAX_TEXT,
      description: 'Made from the HTML when it is absent',
    }),
  ),
})

const Variables = Type.Object({}, { additionalProperties: true })

export const TemplateSendBody = Body({
  ...common,
  recipients: Type.Array(
    Type.Object({
      to: mailbox('Jane <jane@elsewhere.example>'),
      variables: Type.Optional(Variables),
    }),
    {
      minItems: 1,
      maxItems: MAX_RECIPIENTS,
      description: 'Each gets a message of its own',
    },
  ),
  variables: Type.Optional({
    ...Variables,
    description: 'For all recipients; those of a recipient take precedence',
  }),
  strict: Type.Optional(
    Type.Boolean({ default: false, description: 'A missing variable refuses the whole request' }),
  ),
})

export const TestSendBody = Body({
  from: common.from,
  to: mailbox('Ada <ada@acme.example>'),
  variables: Type.Optional(Variables),
})

export const Accepted = Type.Object(
  {
    messages: Type.Array(
      Type.Object({
        message_id: Type.String({
          description: 'As in the message, in events and in the message trace',
          examples: ['<01jd2x7v7k5v8m6q0a3c9f4w2e@acme.example>'],
        }),
        to: Type.String({ description: 'The address', examples: ['jane@elsewhere.example'] }),
        status: OneOf(['queued', 'suppressed'], {
          description: 'suppressed: the address gets no mail of this organization',
        }),
      }),
    ),
    queued: Type.Integer(),
    suppressed: Type.Integer(),
  },
  { title: 'AcceptedMessages' },
)
