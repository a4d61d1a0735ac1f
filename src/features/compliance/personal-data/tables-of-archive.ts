import { archivedOf } from '../../archive/archive.compliance.ts'
import { addressIn, type PersonalTable } from './personal-table.ts'

/** Tables of the archive of mail. The messages themselves are sealed objects outside the database. */
export const tablesOfArchive: readonly PersonalTable[] = [
  {
    table: 'archived_messages',
    personal: 'sender subject search',
    plain: 'direction storage_type storage_key sealed_for',
    find: (person) => [archivedOf(person)],
    owner: 'organization_id',
    exported: 'records',
    withheld: 'search sealed_for storage_key',
    erased: { by: 'archive' },
    expired: { by: 'retention.archived' },
  },
  {
    table: 'archived_copies',
    personal: 'address',
    plain: 'role',
    find: addressIn('address'),
    owner: 'organization_id',
    exported: 'records',
    erased: { by: 'archive' },
    expired: { with: 'archived_messages' },
  },
  {
    table: 'archive_jobs',
    personal: 'email',
    plain: 'kind status position error unfinished_folder',
    actors: 'created_by',
    find: addressIn('email'),
    owner: 'organization_id',
    exported: 'records',
    withheld: 'created_by',
    erased: { delete: ['archive', 'jobs'] },
    expired: { by: 'archive.read-back' },
  },
]
