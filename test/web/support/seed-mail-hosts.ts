import type { App } from '../../support/app.ts'

type Owner = Awaited<ReturnType<App['operator']>>

const DAY_MS = 86_400_000

/** A proxy and two backends that do not answer, and moves between the backends. */
export async function seedMailHosts(app: App, owner: Owner): Promise<void> {
  const ids: Record<string, string> = {}
  for (const [name, role] of [
    ['front', 'proxy'],
    ['one', 'backend'],
    ['two', 'backend'],
  ] as const) {
    const made = await owner.post('/api/v1/platform/mail-hosts', {
      name,
      roles: [role],
      address: `${name}.internal.test`,
      doveadm_url: 'http://127.0.0.1:1',
    })
    if (made.status !== 201) throw new Error(made.text)
    ids[name] = made.body.data.id
  }
  const { db } = app.core
  const places = await db
    .selectFrom('mailbox_places')
    .select(['mailbox_id', 'organization_id'])
    .orderBy('mailbox_id')
    .limit(3)
    .execute()
  const states = [
    { state: 'done', messages: 1840 },
    { state: 'copying' },
    { state: 'waiting', attempts: 2, error_message: 'the copy differs from the mailbox' },
  ] as const
  // No process continues them before tomorrow.
  const due_at = new Date(Date.now() + DAY_MS).toISOString()
  await db
    .insertInto('mailbox_moves')
    .values(
      places.map((place, index) => ({
        ...place,
        ...states[index],
        source_id: ids.one as string,
        target_id: ids.two as string,
        due_at,
      })),
    )
    .execute()
}
