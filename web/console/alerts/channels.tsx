import { useState } from 'preact/hooks'
import type { AlertChannel } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { ConfirmByNameWithReason } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Badge, Card, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { AlertPages } from './alerts.tsx'
import { t } from './words.ts'

const columns: Column<AlertChannel>[] = [
  {
    title: t.name,
    cell: ({ name, target }) => (
      <>
        <Text>{name}</Text>
        <small class="under">
          <Text>{target}</Text>
        </small>
      </>
    ),
  },
  { title: t.type, minor: true, cell: ({ type }) => t.types[type] },
  {
    title: t.enabled,
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : ''}>{enabled ? t.on : t.off}</Badge>,
  },
  { title: t.lastUsed, minor: true, cell: ({ last_used_at }) => <Time iso={last_used_at} /> },
  { title: t.lastError, minor: true, cell: ({ last_error }) => <Text>{last_error}</Text> },
  { title: common.actions, quiet: true, cell: (one) => <Actions channel={one} /> },
]

export function Channels() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const { data, error, again } = useQuery('alert-channels', () =>
    api.get('/platform/alerts/channels'),
  )
  const add = may<'POST /platform/alerts/channels'>('operator') && (
    <AddButton onClick={() => setAdding(true)}>{t.addChannel}</AddButton>
  )
  return (
    <>
      <Heading title={t.channels}>{add}</Heading>
      <AlertPages />
      <Failed error={error} again={again} />
      <Card flush>
        <Table
          caption={t.channels}
          columns={columns}
          rows={data?.items}
          rowKey={({ id }) => id}
          empty={
            <Empty title={t.noChannelsTitle} action={add}>
              {t.noChannelsHint}
            </Empty>
          }
        />
      </Card>
      <AddChannel open={adding} onClose={() => setAdding(false)} />
    </>
  )
}

const AddChannel = (dialog: { open: boolean; onClose(): void }) => (
  <FormDialog
    {...dialog}
    title={t.addChannel}
    submit={t.addChannel}
    onSubmit={async (values, idempotencyKey) => {
      const name = values.text('name')
      await api.post('/platform/alerts/channels', {
        body: {
          name,
          type: values.text('type') as AlertChannel['type'],
          target: values.text('target'),
          signing_secret: values.secret('signing_secret') || null,
        },
        idempotencyKey,
      })
      forget('alert-channels')
      toast(t.channelAdded(name))
    }}
  >
    <Field label={t.name} name="name" required autocomplete="off" />
    <Select label={t.type} name="type" options={Object.entries(t.types)} value="email" />
    <Field label={t.target} name="target" required hint={t.targetHint} autocomplete="off" />
    <Field
      label={t.secret}
      name="signing_secret"
      type="password"
      hint={t.secretHint}
      autocomplete="new-password"
    />
  </FormDialog>
)

/** The answer about a test that failed is an error with the status 200, so its data is one level deeper. */
interface Tested {
  delivered: boolean
  error: string | null
}

function Actions({ channel: { id, name } }: { channel: AlertChannel }) {
  const may = useMay()
  const [removing, setRemoving] = useState(false)
  const params = { channel_id: id }
  const test = async () => {
    const answer: Tested | { data: Tested } = await api.post(
      '/platform/alerts/channels/{channel_id}/test',
      { params },
    )
    const { delivered, error } = 'data' in answer ? answer.data : answer
    forget('alert-channels')
    toast(delivered ? t.testDelivered(name) : t.testFailed(name, error ?? ''))
  }
  if (!may<'POST /platform/alerts/channels/{channel_id}/test'>('operator')) return null
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        <MenuItem onClick={test}>{t.test}</MenuItem>
        <MenuItem danger onClick={() => setRemoving(true)}>
          {t.remove}
        </MenuItem>
      </Menu>
      <ConfirmByNameWithReason
        name={name}
        kind="alert-channel"
        open={removing}
        onClose={() => setRemoving(false)}
        title={t.removeTitle(name)}
        submit={t.remove}
        onConfirm={async (reason, idempotencyKey) => {
          await api.delete('/platform/alerts/channels/{channel_id}', {
            params,
            body: { reason },
            idempotencyKey,
          })
          forget('alert')
          toast(t.removed(name))
        }}
      >
        <p>{t.removeChannelHint}</p>
      </ConfirmByNameWithReason>
    </>
  )
}
