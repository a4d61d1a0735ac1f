/** The mailbox that a request acts for. */
export interface Holder {
  id: string
  organization_id: string
  email: string
  name: string | null
}
