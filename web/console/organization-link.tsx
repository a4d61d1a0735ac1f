import { useQuery } from '../lib/query.ts'
import { Text } from '../ui/page.tsx'
import { api } from './api.ts'

/** An organization by its name, for lists that have only the id. Each is read once. */
export function OrganizationLink({
  id,
  to = `/console/organizations/${encodeURIComponent(id)}`,
}: {
  id: string
  to?: string
}) {
  const { data } = useQuery(`organization name ${id}`, () =>
    api.get('/organizations/{organization_id}', { params: { organization_id: id } }),
  )
  return (
    <a href={to}>
      <Text>{data?.name ?? id}</Text>
    </a>
  )
}
