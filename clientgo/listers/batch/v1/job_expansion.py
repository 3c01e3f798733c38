"""Methods of the lister of jobs in addition to the generated ones.

Mirrors listers/batch/v1/job_expansion.go.
"""

from __future__ import annotations

from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.listers.generic_helpers import ResourceIndexer
from clientgo.listers.selecting import all_selecting


class JobListerExpansion(ResourceIndexer[batchv1.Job]):
    """The extra method of JobLister."""

    def get_pod_jobs(self, pod: corev1.Pod) -> list[batchv1.Job]:
        """Return the Jobs whose selector matches the pod; only its owner manages it.

        Raises LookupError when there is none or the pod has no labels. Go: GetPodJobs.
        """
        return all_selecting(
            self, pod, none="no jobs found for pod", missing="could not find jobs for pod", empty_matches=True
        )
