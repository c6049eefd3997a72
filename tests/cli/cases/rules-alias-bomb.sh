{
  echo 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]'
  for i in 1 2 3 4 5 6 7 8 9; do
    p=$((i - 1))
    echo "a$i: &a$i [*a$p, *a$p, *a$p, *a$p, *a$p, *a$p, *a$p, *a$p, *a$p, *a$p]"
  done
} > "$work/rules.yaml"
"$kubewatch" run-controller -f "$work/rules.yaml"
