import { useState } from 'preact/hooks'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Badge, Card } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

/** The rule that all people need a second factor to sign in. */
export function Policy() {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const { data, error, again } = useQuery('people policy', () => api.get('/users/policy'))
  const isRequired = data?.require_two_factor ?? false
  const words = isRequired ? t.policy.stop : t.policy.start
  return (
    <Card
      title={t.twoFactor}
      actions={
        data &&
        may<'PUT /users/policy'>('admin') && (
          <button type="button" class="small" onClick={() => setOpen(true)}>
            {words.submit}
          </button>
        )
      }
    >
      <Failed error={error} again={again} />
      {data && (
        <p>
          <Badge tone={isRequired ? 'good' : ''}>
            {isRequired ? t.policy.required : t.policy.optional}
          </Badge>{' '}
          <span class="muted">{t.policy.without(data.users_without_two_factor)}</span>
        </p>
      )}
      <Confirm
        open={open}
        onClose={() => setOpen(false)}
        title={words.title}
        submit={words.submit}
        onConfirm={async (idempotencyKey) => {
          await api.put('/users/policy', {
            body: { require_two_factor: !isRequired },
            idempotencyKey,
          })
          forget('people')
          toast(words.done)
        }}
      >
        <p>{words.hint}</p>
      </Confirm>
    </Card>
  )
}
