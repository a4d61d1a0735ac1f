import { Type } from 'typebox'
import { Body, Nullable, OneOf } from '../../../http/envelope.ts'

export const TestRequest = Body({
  to: Type.String({
    minLength: 1,
    maxLength: 254,
    description: 'Recipient of the test mail',
    examples: ['ops@acme.example'],
  }),
})

const server = {
  host: Nullable(Type.String({ description: 'Server that system mail goes to' })),
  port: Type.Integer(),
  tls: OneOf(['opportunistic', 'starttls', 'true', 'false'], {
    description: 'TLS mode of the connection, as SMTP_TLS',
  }),
  user: Nullable(Type.String({ description: 'Login at the server' })),
}

export const SystemMailServer = Type.Object(
  { ...server, host: Nullable(Type.String({ description: 'null: none is configured' })) },
  { title: 'SystemMailServer' },
)

export const TestResult = Type.Object({
  to: Type.String(),
  ...server,
  sent: Type.Boolean({ description: 'The server accepted the mail' }),
  message_id: Nullable(
    Type.String({
      description:
        'Message-ID without its angle brackets; the message trace shows whether it arrived',
      examples: ['4c1d5f0e-7a3b@host.example'],
    }),
  ),
  error: Nullable(Type.String({ description: 'Reason that it was not sent' })),
})
