import { browserName } from '../lib/browser-name.ts'
import { useAction } from '../lib/query.ts'
import { t } from './account.words.ts'
import { Failed } from './failed.tsx'
import { Field } from './field.tsx'
import { Form } from './form.tsx'
import { Badge, Card, Text, Time } from './page.tsx'
import { type Column, Table } from './table.tsx'
import { toast } from './toast.tsx'
import { t as common } from './words.ts'

/** The own password, with the current one as proof. */
export const OwnPassword = ({
  email,
  change,
}: {
  email: string
  change(
    body: { current_password: string; new_password: string },
    idempotencyKey: string,
  ): Promise<unknown>
}) => (
  <Card title={common.password}>
    <div class="narrow">
      <Form
        submit={t.change}
        onSubmit={async (values, idempotencyKey) => {
          await change(
            {
              current_password: values.secret('current_password'),
              new_password: values.secret('new_password'),
            },
            idempotencyKey,
          )
          toast(t.changed)
        }}
      >
        {/* Password managers save the new password for this name. */}
        <input type="hidden" name="username" autocomplete="username" value={email} />
        <Field
          label={t.current}
          name="current_password"
          type="password"
          autocomplete="current-password"
          required
        />
        <Field
          label={t.next}
          name="new_password"
          type="password"
          autocomplete="new-password"
          hint={t.rule}
          required
        />
      </Form>
    </div>
  </Card>
)

interface Session {
  id: string
  user_agent: string | null
  ip_address: string
  created_at: string
  is_current?: boolean
}

/** Sessions of one person, with a way to end each of them but the current one. */
export function SessionTable({
  caption,
  sessions,
  end,
}: {
  caption: string
  sessions: readonly Session[] | undefined
  /** undefined for people who may not. */
  end: ((id: string, idempotencyKey: string) => Promise<unknown>) | undefined
}) {
  const ending = useAction(async (idempotencyKey, id: string) => {
    await end?.(id, idempotencyKey)
    toast(t.ended)
  })
  const columns: Column<Session>[] = [
    {
      title: t.device,
      cell: ({ user_agent, is_current }) => (
        <>
          <Text>{browserName(user_agent)}</Text>{' '}
          {is_current && <Badge tone="info">{t.thisOne}</Badge>}
        </>
      ),
    },
    { title: t.address, minor: true, cell: ({ ip_address }) => <code>{ip_address}</code> },
    { title: t.started, cell: ({ created_at }) => <Time iso={created_at} /> },
    {
      title: common.actions,
      quiet: true,
      cell: ({ id, is_current }) =>
        end &&
        !is_current && (
          <button
            type="button"
            class="small"
            disabled={ending.busy}
            onClick={() => void ending.run(id)}
          >
            {t.end}
          </button>
        ),
    },
  ]
  return (
    <>
      <Failed error={ending.error} />
      <Table
        caption={caption}
        columns={columns}
        rows={sessions}
        rowKey={({ id }) => id}
        expected={2}
        empty={<p class="muted pad">{common.none}</p>}
      />
    </>
  )
}
