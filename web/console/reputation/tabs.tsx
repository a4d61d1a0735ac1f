import { Tabs } from '../../ui/tabs.tsx'
import { t } from './words.ts'

export const ReputationTabs = () => (
  <Tabs
    label={t.area}
    tabs={[
      ['/console/reputation', t.overview],
      ['/console/reputation/domains', t.domainsTab],
      ['/console/reputation/ips', t.ipsTab],
      ['/console/reputation/feedback', t.feedback],
      ['/console/reputation/warm-ups', t.warmUps],
      ['/console/reputation/limits', t.limits],
    ]}
  />
)
