import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Levels } from '../api/schema.ts'

const TENANT = ['read', 'write', 'admin']
const OPERATOR = ['support', 'operator', 'admin', 'owner']

const TENANT_ROLES: Record<string, string> = { read_only: 'read', admin: 'admin', owner: 'admin' }
/** Operators use the routes of tenants too: writing needs the role operator, administration admin. */
const OF_KEY: Record<string, string> = { read: 'support', write: 'operator' }

/** Returns whether a dashboard user of this role may call routes of the level. */
export const tenantMay = (role: string, level: string): boolean =>
  TENANT.indexOf(level) <= TENANT.indexOf(TENANT_ROLES[role] ?? 'read')

/** Returns whether an operator of this role may call routes of the level. */
export const operatorMay = (role: string, level: string): boolean =>
  OPERATOR.indexOf(OF_KEY[level] ?? level) <= OPERATOR.indexOf(role)

/** The rights of the caller, for hiding actions that the API would refuse. */
export interface Permissions {
  level(level: string): boolean
  capability(name: string): boolean
}

export const PermissionsContext = createContext<Permissions>({
  level: () => false,
  capability: () => false,
})

/**
 * `may<'POST /domains/'>('write')` says whether the person may do it; without it the button is left
 * out. The compiler compares the level with that of the API; the route costs
 * no byte of the script.
 */
export function useMay() {
  const { level: has } = useContext(PermissionsContext)
  return <Operation extends keyof Levels>(level: Levels[Operation]): boolean => has(level)
}

export const useCapability = (name: string): boolean =>
  useContext(PermissionsContext).capability(name)
