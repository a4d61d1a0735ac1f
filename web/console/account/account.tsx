import { useState } from 'preact/hooks'
import { forget, useQuery } from '../../lib/query.ts'
import { OwnPassword, SessionTable } from '../../ui/account.tsx'
import { t as words } from '../../ui/account.words.ts'
import { Failed } from '../../ui/failed.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Card, Facts, Heading, Text } from '../../ui/page.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

export function Account() {
  const { data } = useQuery('me', () => api.get('/platform/auth/me'))
  return (
    <>
      <Heading title={titles.account} />
      <Card>
        <Facts
          facts={[
            { name: t.signedInAs, value: <Text>{data?.email}</Text> },
            { name: t.role, value: data?.role },
          ]}
        />
      </Card>
      <OwnPassword
        email={data?.email ?? ''}
        change={async (body, idempotencyKey) => {
          await api.post('/platform/auth/password', { body, idempotencyKey })
          forget('own sessions')
        }}
      />
      <BackupCodes />
      <OwnSessions />
    </>
  )
}

function BackupCodes() {
  const [open, setOpen] = useState(false)
  const [proof, setProof] = useState('password')
  const [codes, setCodes] = useState<string>()
  return (
    <Card
      title={t.codes}
      actions={
        <button type="button" class="small" onClick={() => setOpen(true)}>
          {t.renew}
        </button>
      }
    >
      <p class="muted">{t.codesHint}</p>
      <FormDialog
        title={t.renew}
        open={open}
        onClose={() => setOpen(false)}
        submit={t.renew}
        onSubmit={async (values, idempotencyKey) => {
          const { backup_codes } = await api.post('/platform/auth/mfa/backup-codes', {
            body:
              proof === 'password'
                ? { current_password: values.secret('current_password') }
                : { token: values.text('token') },
            idempotencyKey,
          })
          setCodes(backup_codes.join('\n'))
        }}
      >
        <p>{t.codesHint}</p>
        <Select
          label={t.proof}
          name="proof"
          value={proof}
          options={Object.entries(t.proofs)}
          onChange={setProof}
        />
        {proof === 'password' ? (
          <Field
            label={words.current}
            name="current_password"
            type="password"
            autocomplete="current-password"
            required
          />
        ) : (
          <Field
            label={t.code}
            name="token"
            inputMode="numeric"
            autocomplete="one-time-code"
            required
          />
        )}
      </FormDialog>
      <SecretDialog
        title={t.codes}
        secret={codes}
        fileName="mailplane-backup-codes.txt"
        onClose={() => setCodes(undefined)}
      />
    </Card>
  )
}

function OwnSessions() {
  const { data, error, again } = useQuery('own sessions', () => api.get('/platform/auth/sessions'))
  return (
    <Card title={words.sessions} flush>
      <Failed error={error} again={again} />
      <SessionTable
        caption={words.sessions}
        sessions={data?.items}
        end={async (session_id, idempotencyKey) => {
          await api.delete('/platform/auth/sessions/{session_id}', {
            params: { session_id },
            idempotencyKey,
          })
          forget('own sessions')
        }}
      />
    </Card>
  )
}
