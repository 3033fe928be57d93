import { useLocation } from 'wouter';
import { useSession } from './session-context.js';

/** The project that is shown; a choice where the person has several. */
export function ProjectSwitch() {
  const { me, project, chooseProject } = useSession();
  const [, go] = useLocation();
  if (me.projects.length < 2) return <span className="project-name">{project.name}</span>;
  return (
    <select
      className="project-switch"
      aria-label="Project"
      value={project.id}
      onChange={(event) => {
        chooseProject(event.target.value);
        go('/');
      }}
    >
      {me.projects.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
