"""What trackers and trainers write of themselves is known without a word: TensorBoard, W&B, MLflow, ms-swift."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.errors import InputError, UsageError
from benchbook.training import MetricPoint, read_training_metrics, recognise, resolve_columns
from benchbook.training.logs import find_training_logs

Points = list[tuple[str, int, float | None, float | None]]

WANDB = (
    '"Step","run-1 - _step","run-1 - _step__MIN","run-1 - _step__MAX",'
    '"run-1 - train/loss","run-1 - train/loss__MIN","run-1 - train/loss__MAX","run-1 - train/lr"\n'
    '"10","10","10","10","2.5","2.25","2.75","0.1"\n"20","20","20","20","","","","0.2"\n'
)
HISTORY = (
    ",_step,_timestamp,_runtime,train/loss,train/global_step,train/epoch\n"
    "0,0,1767913200.5,1.5,2.5,100,0.5\n1,1,1767913210.5,11.5,2.25,200,1.0\n"
)
SYSTEM_ROWS = "_step,_timestamp,train/loss,train/global_step,gpu\n0,10,2.5,100,\n1,20,,,0.5\n2,30,2.25,200,\n"
SWIFT = (
    '{"loss": 2.5, "grad_norm": 1.5, "learning_rate": 1e-05, "token_acc": 0.5, "epoch": 0.05, '
    '"global_step/max_steps": "5/100", "percentage": "5.00%", "elapsed_time": "15s", "remaining_time": "4m 45s", '
    '"memory(GiB)": 12.5, "train_speed(iter/s)": 0.25}\n'
    '{"eval_loss": 2.25, "epoch": 0.1, "global_step/max_steps": "10/100", "elapsed_time": "1h 2m 3s"}\n'
    '{"last_model_checkpoint": "out/checkpoint-100", "best_metric": 2.25}\n'
)
FACTORY = (
    '{"current_steps": 5, "total_steps": 100, "loss": 2.5, "lr": 0.5, "elapsed_time": "0:00:15", "percentage": 5.0}\n'
    '{"current_steps": 10, "total_steps": 100, "loss": 2.25, "elapsed_time": "1 day, 1:00:15", "percentage": 10.0}\n'
)
MLFLOW_TABLE = (
    "run_id,key,value,timestamp,step\n"
    "r,train_loss,2.5,1767913200500,10\nr,eval_loss,2.25,1767913201000,10\nr,train_loss,2.0,1767913202000,20\n"
)


def log(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def read(path: Path, **given: str) -> list[MetricPoint]:
    form = recognise(path)
    return list(read_training_metrics(path, form, resolve_columns(path, form, given)))


def short(path: Path, **given: str) -> Points:
    return [(point.name, point.step, point.value, point.time_s) for point in read(path, **given)]


@pytest.mark.parametrize(
    ("name", "content", "points"),
    [
        pytest.param(
            "run-a_1-tag-train_loss.csv", "Wall time,Step,Value\n1767913200.5,10,2.5\n1767913210.5,20,2.25\n",
            [("loss", 10, 2.5, 1767913200.5), ("loss", 20, 2.25, 1767913210.5)], id="tensorboard-table",
        ),
        pytest.param(
            "acc.csv", "Wall time,Step,Value\n1.5,10,0.5\n", [("acc", 10, 0.5, 1.5)], id="tensorboard-renamed",
        ),
        pytest.param(
            "wandb.csv", WANDB, [("loss", 10, 2.5, None), ("train/lr", 10, 0.1, None), ("train/lr", 20, 0.2, None)],
            id="wandb-panel",
        ),
        pytest.param(
            "history.csv", HISTORY,
            [("loss", 100, 2.5, 1767913200.5), ("train/epoch", 100, 0.5, 1767913200.5),
             ("loss", 200, 2.25, 1767913210.5), ("train/epoch", 200, 1.0, 1767913210.5)], id="wandb-history",
        ),
        pytest.param(
            "system.csv", SYSTEM_ROWS, [("loss", 0, 2.5, 10.0), ("gpu", 1, 0.5, 20.0), ("loss", 2, 2.25, 30.0)],
            id="wandb-history-with-rows-of-another-step",
        ),
        pytest.param(
            "logging.jsonl", SWIFT,
            [("loss", 5, 2.5, 15.0), ("grad_norm", 5, 1.5, 15.0), ("learning_rate", 5, 1e-05, 15.0),
             ("token_acc", 5, 0.5, 15.0), ("epoch", 5, 0.05, 15.0), ("memory(GiB)", 5, 12.5, 15.0),
             ("train_speed(iter/s)", 5, 0.25, 15.0), ("eval_loss", 10, 2.25, 3723.0), ("epoch", 10, 0.1, 3723.0)],
            id="ms-swift",
        ),
        pytest.param(
            "trainer_log.jsonl", FACTORY,
            [("loss", 5, 2.5, 15.0), ("total_steps", 5, 100.0, 15.0), ("lr", 5, 0.5, 15.0),
             ("percentage", 5, 5.0, 15.0),
             ("loss", 10, 2.25, 90_015.0), ("total_steps", 10, 100.0, 90_015.0), ("percentage", 10, 10.0, 90_015.0)],
            id="llama-factory",
        ),
        pytest.param(
            "metrics.csv", MLFLOW_TABLE,
            [("loss", 10, 2.5, 1767913200.5), ("eval_loss", 10, 2.25, 1767913201.0), ("loss", 20, 2.0, 1767913202.0)],
            id="mlflow-table",
        ),
        pytest.param(
            "mlruns/0/run/metrics/train/loss", "1767913200500 2.5 10\n1767913202000 NaN 20\n",
            [("loss", 10, 2.5, 1767913200.5), ("loss", 20, None, 1767913202.0)], id="mlflow-file",
        ),
    ],
)  # fmt: skip
def test_a_log_is_read_as_it_was_exported(tmp_path: Path, name: str, content: str, points: Points) -> None:
    assert sorted(short(log(tmp_path, name, content)), key=str) == sorted(points, key=str)


def test_the_table_of_several_runs_names_them_and_says_how_to_choose(tmp_path: Path) -> None:
    path = log(tmp_path, "two.csv", '"Step","a - train/loss","b - train/loss"\n"1","2.5","3.5"\n')
    with pytest.raises(InputError, match=r"loss: found the losses of several runs \(a - train/loss, b - train/loss\)"):
        read(path)
    assert ("loss", 1, 3.5, None) in short(path, loss="b - train/loss")


def test_a_folder_of_mlflow_is_one_run_a_log_a_metric(tmp_path: Path) -> None:
    for name, value in (("loss", 2.5), ("eval/loss", 2.25)):
        log(tmp_path, f"mlruns/0/run/metrics/{name}", f"1767913200500 {value} 10\n")
    log(tmp_path, "mlruns/0/run/params/lr", "0.1")
    found = find_training_logs([str(tmp_path / "mlruns/0/run")])
    assert [(one.form, one.columns) for one, _ in found] == [
        ("mlflow", {"step": "step", "time": "timestamp", name: "value"}) for name in ("eval_loss", "loss")
    ]
    log(tmp_path, "mlruns/0/other/metrics/loss", "1767913200500 1 10\n")
    with pytest.raises(UsageError, match="the metrics of several runs; give the folder of one"):
        find_training_logs([str(tmp_path / "mlruns")])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.csv", MLFLOW_TABLE + "other,train_loss,1,1767913203000,30\n", "m.csv:5: run_id: found another run than"),
        ("m.csv", "key,value,step\n,1,2\n", "m.csv:2: key: found nothing; expected a metric's name"),
        ("metrics/loss", "1767913200500 2.5 10\n1 2 3 4\n", "metrics/loss:2: found 4 words; expected timestamp value"),
        ("metrics/loss", "1767913200500 low 10\n", "metrics/loss:1: value: found 'low'; expected a number"),
        (
            "l.jsonl",
            '{"global_step/max_steps": "5 of 9", "loss": 1}\n',
            "l.jsonl:1: global_step/max_steps: found '5 of",
        ),
        ("l.jsonl", '{"step": 1, "elapsed_time": "soon", "loss": 1}\n', "l.jsonl:1: elapsed_time: found 'soon'"),
        ("w.csv", "iter,loss\n1,2\n", "w.csv:2: step: found no step beside iter, loss; expected step, global_step"),
    ],
)
def test_faults_are_named(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = log(tmp_path, name, content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(message)
