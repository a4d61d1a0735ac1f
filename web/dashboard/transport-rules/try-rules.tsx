import { useState } from 'preact/hooks'
import { ApiError } from '../../api/client.ts'
import type { Post } from '../../api/schema.ts'
import { parseMessage } from '../../lib/parse-message.ts'
import { Source } from '../../ui/details.tsx'
import { Field, Select, TextArea } from '../../ui/field.tsx'
import { Form, type Values } from '../../ui/form.tsx'
import { Badge, Card, Text } from '../../ui/page.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

type Trial = Post['/transport-rules/test']['data']

const addressesIn = (text: string): string[] => text.match(/[^\s<>,;:"()]+@[^\s<>,;:"()]+/g) ?? []

/** The typed values, completed from the message. */
function trialOf(values: Values) {
  const message = values.text('message')
  const { from, to, cc } = parseMessage(message)
  const typed = addressesIn(values.text('recipients'))
  const recipients = typed.length > 0 ? typed : addressesIn(`${to}, ${cc}`)
  const sender = values.text('sender') || (addressesIn(from)[0] ?? '')
  const missing = (sender === '' && t.sender) || (recipients.length === 0 && t.recipients)
  if (missing) throw new ApiError({ status: 400, message: t.missing(missing) })
  return {
    direction: values.text('direction') as 'inbound' | 'outbound',
    sender,
    recipients,
    message: message.replace(/\r?\n/g, '\r\n'),
  }
}

/** Says what the stored rules do with a message that was pasted. */
export function TryRules() {
  const [trial, setTrial] = useState<Trial>()
  const { outbound, inbound } = t.directions
  return (
    <Card title={t.test}>
      <div class="stack">
        <p class="muted">{t.testHint}</p>
        <Form
          submit={t.run}
          onSubmit={async (values) => {
            setTrial(undefined)
            setTrial(await api.post('/transport-rules/test', { body: trialOf(values) }))
          }}
        >
          <div class="pair">
            <Select
              label={t.direction}
              name="direction"
              options={[
                ['outbound', outbound],
                ['inbound', inbound],
              ]}
            />
            <Field label={t.sender} name="sender" hint={t.fromMessage} autocomplete="off" />
            <Field label={t.recipients} name="recipients" hint={t.separated} autocomplete="off" />
          </div>
          <TextArea label={t.message} name="message" rows={8} placeholder={t.example} required />
        </Form>
        <div role="status">{trial && <Outcome trial={trial} />}</div>
      </div>
    </Card>
  )
}

const TONES = { pass: 'good', quarantine: 'warn', reject: 'bad' } as const

function Outcome({ trial: { outcome, reject_message, rules, messages } }: { trial: Trial }) {
  const matched = rules.filter((rule) => rule.matched)
  return (
    <div class="stack note">
      <h3>{t.result}</h3>
      <p>
        <Badge tone={TONES[outcome]}>{t.outcomes[outcome]}</Badge>
      </p>
      {reject_message !== null && (
        <p>
          {t.reply}: <Text>{reject_message}</Text>
        </p>
      )}
      {matched.length === 0 ? (
        <p>{rules.length === 0 ? t.noRules : t.noMatch}</p>
      ) : (
        <div class="prose">
          <p>{t.matched}:</p>
          <ul>
            {matched.map(({ id, name, recipients }) => (
              <li key={id}>
                <strong>
                  <Text>{name}</Text>
                </strong>{' '}
                <Text>{t.forRecipients(recipients.join(', '))}</Text>
              </li>
            ))}
          </ul>
        </div>
      )}
      {messages.map((message, index) => (
        <Result key={index} message={message} />
      ))}
    </div>
  )
}

function Result({ message }: { message: Trial['messages'][number] }) {
  const title = t.copyFor(message.recipients.join(', '))
  return (
    <div class="stack">
      <h4>
        <Text>{title}</Text> {message.quarantined && <Badge tone="warn">{t.held}</Badge>}
      </h4>
      {message.notes.length > 0 && (
        <ul lang="en">
          {message.notes.map((note) => (
            <li key={note}>
              <Text>{note}</Text>
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>{t.showMessage}</summary>
        {message.truncated && <p class="muted">{t.truncated}</p>}
        <Source label={title} text={message.message} />
      </details>
    </div>
  )
}
