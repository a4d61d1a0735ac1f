import { Tabs } from '../../ui/tabs.tsx'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

export const ComplianceTabs = () => (
  <Tabs
    label={titles.compliance}
    tabs={[
      ['/console/compliance', t.person],
      ['/console/compliance/holds', titles.holds],
      ['/console/compliance/retention', titles.retention],
    ]}
  />
)
