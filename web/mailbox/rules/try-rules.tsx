import { useState } from 'preact/hooks'
import type { MailboxRulesOutcome } from '../../api/schema.ts'
import { parseMessage } from '../../lib/parse-message.ts'
import { TextArea } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Text } from '../../ui/page.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

/** Says what the stored rules do with a message that was pasted. */
export function TryRules() {
  const [outcome, setOutcome] = useState<MailboxRulesOutcome>()
  return (
    <Card title={t.test}>
      <div class="narrow">
        <p class="muted">{t.testHint}</p>
        <Form
          submit={t.run}
          onSubmit={async (values) => {
            setOutcome(undefined)
            const body = parseMessage(values.text('message'))
            setOutcome(await api.post('/mailbox/rules/test', { body }))
          }}
        >
          <TextArea label={t.message} name="message" rows={8} placeholder={t.example} required />
        </Form>
        <div role="status">{outcome && <Outcome outcome={outcome} />}</div>
      </div>
    </Card>
  )
}

function Outcome({ outcome }: { outcome: MailboxRulesOutcome }) {
  const { blocked, matched_rules, stored, forwarded_to, discarded, vacation_reply } = outcome
  return (
    <div class="prose note">
      <h3>{t.result}</h3>
      {blocked && <p>{t.blocked}</p>}
      {!blocked && (
        <p>
          {matched_rules.length === 0 ? (
            t.noMatch
          ) : (
            <>
              {t.matched}:{' '}
              <strong>
                <Text>{matched_rules.map(({ name }) => name || t.unnamed).join(', ')}</Text>
              </strong>
            </>
          )}
        </p>
      )}
      <ul>
        {stored.map(({ folder, flags }) => (
          <li key={folder}>
            <Text>{[t.stored(folder), ...flags.map(flagName)].join(', ')}</Text>
          </li>
        ))}
        {forwarded_to.map((address) => (
          <li key={address}>
            <Text>{t.forwarded(address)}</Text>
          </li>
        ))}
        {discarded && <li>{t.discarded}</li>}
        {vacation_reply && <li>{t.replied}</li>}
      </ul>
    </div>
  )
}

const flagName = (flag: string): string =>
  ({ '\\Seen': t.seen, '\\Flagged': t.flagged })[flag] ?? flag
