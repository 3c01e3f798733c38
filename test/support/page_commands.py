"""The test of each command in the shell blocks of the README, of the pages that it links, and of the documentation."""

from __future__ import annotations

CODEGEN = "python -m clientgo.codegen --root ~/shop --output shop.generated --crds ~/shop/crds shop.apis.shop.v1"
FIRST_STEPS = "test_first_steps.py"
QUICK_STARTS = "test_quick_starts.py"
NETWORK = "test_network_controller.py"
GUESTBOOK = "test_guestbook_operator.py"
PATTERNS = "test_operator_patterns.py"
COCKROACH = "test_cockroach_operator.py"
NEWER = '{"spec":{"image":{"name":"cockroachdb/cockroach:v22.2.0"}}}'
SCAFFOLD = "test_scaffold.py"
ELASTIC = "test_elasticsearch_operator.py"
ELASTIC_OPERATOR = (
    "python cmd/elasticsearch-operator -kubeconfig=$KUBECONFIG -elasticsearch-state=/tmp/es.json "
    "-simulated-indices=logs=3:1 &"
)
ELASTIC_UPGRADE = """kubectl patch es quickstart --type=merge -p '{"spec":{"version":"8.12.0"}}'"""
# The test of each command in the pages' shell blocks.
RUN_BY = {
    "python3 -m venv .venv && . .venv/bin/activate": QUICK_STARTS,
    "pip install ./clientgo-*.whl": QUICK_STARTS,
    "clientgo demo": QUICK_STARTS,
    "clientgo tour": QUICK_STARTS,
    "clientgo programs cmd": QUICK_STARTS,
    "clientgo apiserver --kubeconfig-out /tmp/kc &": QUICK_STARTS,
    "clientgo apiserver --kubeconfig-out /tmp/kc --simulate-workloads &": GUESTBOOK,
    "hack/test": "this test run",
    "hack/test test/property/workqueue": "this test run",
    "HYPOTHESIS_PROFILE=thorough hack/test test/property/workqueue": "a person; test_thorough.py, shorter",
    "export KUBECONFIG=/tmp/kc": "test_manual_session.py",
    "kubectl apply -f cmd/sample-controller/artifacts/examples/crd.yaml": "test_manual_session.py",
    "python cmd/sample-controller -kubeconfig=$KUBECONFIG -v=4 &": "test_manual_session.py",
    "kubectl apply -f cmd/sample-controller/artifacts/examples/example-foo.yaml": "test_manual_session.py",
    "kubectl get foos,deployments,events": "test_manual_session.py",
    "kubectl delete foo example-foo": "test_manual_session.py",
    "python cmd/network-controller -kubeconfig=$KUBECONFIG -neutron-state=/tmp/neutron.json &": NETWORK,
    "kubectl apply -f cmd/network-controller/crd/network.yaml": NETWORK,
    "kubectl apply -f cmd/network-controller/example/example-network.yaml": NETWORK,
    "kubectl describe nw example-network": NETWORK,
    "kubectl delete -f cmd/network-controller/example/example-network.yaml": NETWORK,
    "kubectl apply -f cmd/guestbook-operator/config/crd": GUESTBOOK,
    "python cmd/guestbook-operator -kubeconfig=$KUBECONFIG -directory=/tmp/guestbooks.json &": GUESTBOOK,
    "kubectl apply -f cmd/guestbook-operator/config/samples": GUESTBOOK,
    "kubectl describe guestbook guestbook-sample": GUESTBOOK,
    "kubectl delete guestbook guestbook-sample": GUESTBOOK,
    "kubectl apply -f cmd/operator-patterns/config/crd": PATTERNS,
    "python cmd/operator-patterns -kubeconfig=$KUBECONFIG -zone=/tmp/zone &": PATTERNS,
    "kubectl apply -f cmd/operator-patterns/config/samples": PATTERNS,
    "kubectl describe site example-site": PATTERNS,
    "kubectl delete site example-site": PATTERNS,
    "kubectl apply -f cmd/cockroach-operator/config/crd": COCKROACH,
    "python cmd/cockroach-operator -kubeconfig=$KUBECONFIG -simulate-database=/tmp/cockroach.json &": COCKROACH,
    "kubectl apply -f cmd/cockroach-operator/config/samples": COCKROACH,
    "kubectl describe crdb cockroachdb": COCKROACH,
    f"kubectl patch crdb cockroachdb --type=merge -p '{NEWER}'": COCKROACH,
    "kubectl delete crdb cockroachdb": COCKROACH,
    "kubectl apply -f cmd/elasticsearch-operator/config/crd": ELASTIC,
    ELASTIC_OPERATOR: ELASTIC,
    "kubectl apply -f cmd/elasticsearch-operator/config/samples": ELASTIC,
    "kubectl get es,statefulsets,pods": ELASTIC,
    ELASTIC_UPGRADE: ELASTIC,
    "kubectl describe es quickstart": ELASTIC,
    CODEGEN: "test_command.py",
    "python cmd/pod-controller -kubeconfig=$KUBECONFIG &": "test_pod_controller.py",
    "kubectl run mypod --image=nginx": "test_pod_controller.py",
    "kubectl delete pod mypod": "test_pod_controller.py",
    "pip install ~/clientgo": SCAFFOLD,
    "python -m clientgo.scaffold init --domain example.com": SCAFFOLD,
    "python -m clientgo.scaffold create api --group shop --version v1 --kind Order": SCAFFOLD,
    "pip install --editable '.[test]'": SCAFFOLD,
    "hack/ci": SCAFFOLD,
    "kubectl apply -f cmd/sample-controller/artifacts/deploy": "test_sample_controller_deploy.py",
    "kubectl apply -f cmd/sample-controller/artifacts/deploy-shards": "test_sample_controller_deploy.py",
}
